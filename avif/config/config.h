/* dav1d's configuration, which its own build would write. The processor says most of it. */
#ifndef FOREBAY_AVIF_CONFIG_H
#define FOREBAY_AVIF_CONFIG_H

#define CONFIG_8BPC 1
#define CONFIG_16BPC 1
#define CONFIG_LOG 0
#define CONFIG_MACOS_KPERF 0
#define ENDIANNESS_BIG 0
#define HAVE_CLOCK_GETTIME 1
#define HAVE_POSIX_MEMALIGN 1
#define HAVE_UNISTD_H 1
#define HAVE_C11_GENERIC 1

#if defined(__aarch64__)
#define ARCH_AARCH64 1
#define HAVE_GETAUXVAL 1
#define PRIVATE_PREFIX dav1d_
#define PIC 3
#else
#define ARCH_AARCH64 0
#endif
#if defined(__x86_64__)
#define ARCH_X86 1
#define ARCH_X86_64 1
#else
#define ARCH_X86 0
#define ARCH_X86_64 0
#endif
#define ARCH_X86_32 0
#define ARCH_ARM 0
#define ARCH_LOONGARCH 0
#define ARCH_LOONGARCH32 0
#define ARCH_LOONGARCH64 0
#define ARCH_PPC64LE 0
#define ARCH_RISCV 0
#define ARCH_RV32 0
#define ARCH_RV64 0

/* Instructions that only predictions from other frames use. */
#define HAVE_AS_FUNC 0
#define HAVE_AS_ARCH_DIRECTIVE 0
#define HAVE_AS_ARCHEXT_DOTPROD_DIRECTIVE 0
#define HAVE_AS_ARCHEXT_I8MM_DIRECTIVE 0
#define HAVE_AS_ARCHEXT_SVE_DIRECTIVE 0
#define HAVE_AS_ARCHEXT_SVE2_DIRECTIVE 0
#define HAVE_DOTPROD 0
#define HAVE_I8MM 0
#define HAVE_SVE 0
#define HAVE_SVE2 0

/* build.rs says 0 for files whose assembler is not compiled. */
#ifndef HAVE_ASM
#define HAVE_ASM (ARCH_X86_64 || ARCH_AARCH64)
#endif
/* What every processor of the kind has in assembler is left out in C. */
#define TRIM_DSP_FUNCTIONS HAVE_ASM

#endif
