; dav1d's configuration for nasm, which its own build would write.
%define ARCH_X86_32 0
%define ARCH_X86_64 1
%define FORCE_VEX_ENCODING 0
%define PIC 1
%define STACK_ALIGNMENT 16
%define private_prefix dav1d
