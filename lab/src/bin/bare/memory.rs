//! What compilers call to copy, fill and compare memory, as functions of this program.

core::arch::global_asm!(
    "
    .option norvc
    .macro begin name
    .pushsection .text.\\name, \"ax\", @progbits
    .globl \\name
    .type \\name, @function
    \\name:
    .endm
    .macro finish name
    .size \\name, . - \\name
    .popsection
    .endm

begin memmove
    sub t0, a0, a1
    bgeu t0, a2, memcpy_forward
    add a1, a1, a2
    add t1, a0, a2
1:
    beq t1, a0, 2f
    addi a1, a1, -1
    addi t1, t1, -1
    lbu t2, 0(a1)
    sb t2, 0(t1)
    j 1b
2:
    ret
memcpy_forward:
    tail memcpy
finish memmove

begin memcpy
    mv t0, a0
    or t1, a0, a1
    li t3, 8
    andi t4, t1, 7
    beqz t4, 1f
    andi t4, t1, 3
    bnez t4, 3f
    j 2f
1:
    bltu a2, t3, 2f
    ld t2, 0(a1)
    sd t2, 0(t0)
    addi a1, a1, 8
    addi t0, t0, 8
    addi a2, a2, -8
    j 1b
2:
    li t3, 4
5:
    bltu a2, t3, 3f
    lw t2, 0(a1)
    sw t2, 0(t0)
    addi a1, a1, 4
    addi t0, t0, 4
    addi a2, a2, -4
    j 5b
3:
    beqz a2, 4f
    lbu t2, 0(a1)
    sb t2, 0(t0)
    addi a1, a1, 1
    addi t0, t0, 1
    addi a2, a2, -1
    j 3b
4:
    ret
finish memcpy

begin memset
    mv t0, a0
    andi t1, a0, 7
    bnez t1, 3f
    bnez a1, 3f
    li t3, 8
1:
    bltu a2, t3, 3f
    sd a1, 0(t0)
    addi t0, t0, 8
    addi a2, a2, -8
    j 1b
3:
    beqz a2, 4f
    sb a1, 0(t0)
    addi t0, t0, 1
    addi a2, a2, -1
    j 3b
4:
    ret
finish memset

begin memcmp
1:
    beqz a2, 2f
    lbu t0, 0(a0)
    lbu t1, 0(a1)
    bne t0, t1, 3f
    addi a0, a0, 1
    addi a1, a1, 1
    addi a2, a2, -1
    j 1b
2:
    li a0, 0
    ret
3:
    sub a0, t0, t1
    ret
finish memcmp

begin bcmp
    tail memcmp
finish bcmp
    "
);
