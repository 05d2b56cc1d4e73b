"""Instructions of a compiled kernel that are run and counted on the CPU."""

import struct

import pytest
from gpu.sass import __main__ as program
from gpu.sass import arithmetic, cases
from gpu.sass.emulate import Thread

# Adds up a table of four numbers: what nvdisasm prints of such a loop, in the words of Hopper.
LOOP = """
kernel:
        /*0000*/                   ULDC.64 UR4, c[0x0][0x210] ;
        /*0010*/                   IMAD.U32 R2, RZ, RZ, UR4 ;
        /*0020*/                   IMAD.U32 R3, RZ, RZ, UR5 ;
        /*0030*/                   CS2R R4, SRZ ;
.L_x_0:
        /*0040*/                   IMAD.WIDE.U32 R6, R5.reuse, 0x4, R2 ;
        /*0050*/                   LDG.E R0, desc[UR6][R6.64] ;
        /*0060*/                   VIADD R5, R5, 0x1 ;
        /*0070*/                   ISETP.GE.U32.AND P0, PT, R5, 0x4, PT ;
        /*0080*/               @P0 VIADD R4, R4, 0x100 ;
        /*0090*/                   IMAD.IADD R4, R4, 0x1, R0 ;
        /*00a0*/              @!P0 BRA `(.L_x_0) ;
        /*00b0*/                   ST.E desc[UR6][R2.64+0x10], R4 ;
        /*00c0*/                   EXIT ;
"""
AT = 0x7F0000001000


def work(name, words, *values):
    return arithmetic.found(name, words.split(", ")).work(*values)


def test_a_loop_is_run_as_often_as_it_takes_and_each_instruction_of_it_is_counted():
    memory = bytearray(struct.pack("<5I", 1, 20, 300, 4000, 0))
    thread = Thread(LOOP, {AT: memory}, {0x210: AT & 0xFFFFFFFF, 0x214: AT >> 32}, b"")
    assert thread.run((0, 0), 0) == 4 + 4 * 7 + 2
    assert struct.unpack("<5I", memory)[4] == 4321 + 0x100
    assert (thread.issued[0x80], thread.issued[0xB0]) == (4, 1), "a predicate that is false costs as much"


def test_an_instruction_that_is_not_known_and_memory_that_is_not_there_end_it():
    with pytest.raises(NotImplementedError, match="0x0: DADD"):
        Thread("/*0000*/ DADD R2, R2, 0.5 ;", {}, {}, b"").run((0, 0), 0)
    with pytest.raises(ValueError, match="nothing is at 0x0"):
        Thread("/*0000*/ LDG.E R0, [R2.64] ;", {}, {}, b"").run((0, 0), 0)


def test_carries_shifts_comparisons_and_floats_are_those_of_the_hardware():
    mask = arithmetic.MASK
    assert work("IADD3", "R0, P0, R1, R2, RZ", mask, 1, 0) == (0, True)
    assert work("IADD3", "R0, P0, P1, R1, R2, R3", mask, mask, mask) == (mask - 2, True, True)
    assert work("IADD3", "R0, P0, -R1, R2, RZ", 1, 1, 0) == (0, True), "nothing is borrowed"
    assert work("LEA.HI.SX32", "R0, R1, R2, 0x10", 0xFFFE0000, 5) == (3,)
    assert work("SHF.R.S32.HI", "R0, RZ, 0x2, R1", 0, 2, 0x80000000) == (0xE0000000,)
    assert work("IMAD.HI.U32", "R0, R1, R2, R3", 1 << 31, 6, 0) == (3,)
    assert work("VIADDMNMX.RELU", "R0, R1, R2, R3, PT", 5, mask, 9, True) == (4,)
    assert work("LOP3.LUT", "R0, R1, R2, R3, 0xfe, !PT", 1, 2, 4) == (7,)
    assert work("ISETP.LT.U32.OR", "P0, PT, R1, R2, P1", 1, mask, False) == (True, False)
    assert work("FFMA", "R0, R1, R2, R3", 3.0, 0.5, -1.5) == (0.0,)
    assert work("F2I.TRUNC.NTZ", "R0, R1", -1.5) == (mask,)
    assert work("PRMT", "R0, R1, 0x7610, R2", 0x11223344, 0x5140, 0xAABBCCDD) == (0xCC33DD44,)


def test_the_twin_makes_the_pictures_of_every_case(tmp_path):
    twin, tile = cases.twin(program.KERNELS, tmp_path), cases.tile(program.KERNELS)
    for case in cases.CASES:
        launch = cases.Launch(case, tile)
        twin.twin(launch.pictures, launch.blocks, 1, cases.THREADS)
        made = [place for thread in range(launch.threads) for place in launch.made(thread)]
        assert sorted(made) == list(range(len(launch.out))), "the threads make all of the picture, each a part"
        assert len(set(launch.out)) > 100, case.name
