#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Writes a tiny language model with made-up weights, for tests of what computes it.

usage: tiny_model.py OUT.gguf [f16|q8_0|q4_0]

Four layers of a Llama, 256 wide, 8 heads of which 2 hold keys, over a vocabulary of bytes. Needs python3-gguf and numpy.
"""
import sys

import gguf
import numpy

LAYERS, WIDTH, HIDDEN, HEADS, KEY_HEADS, CONTEXT = 4, 256, 768, 8, 2, 512
TYPES = {'f16': gguf.GGMLQuantizationType.F16, 'q8_0': gguf.GGMLQuantizationType.Q8_0,
         'q4_0': gguf.GGMLQuantizationType.Q4_0}


def vocabulary():
    """Three special tokens and one for each byte."""
    yield b'<unk>', gguf.TokenType.UNKNOWN
    yield b'<s>', gguf.TokenType.CONTROL
    yield b'</s>', gguf.TokenType.CONTROL
    for byte in range(256):
        yield b'<0x%02X>' % byte, gguf.TokenType.BYTE
    yield '\u2581'.encode(), gguf.TokenType.NORMAL


def main():
    path = sys.argv[1]
    kind = TYPES[sys.argv[2] if len(sys.argv) > 2 else 'f16']
    random = numpy.random.default_rng(1)
    tokens = list(vocabulary())
    writer = gguf.GGUFWriter(path, 'llama')
    writer.add_name('tiny')
    writer.add_context_length(CONTEXT)
    writer.add_embedding_length(WIDTH)
    writer.add_block_count(LAYERS)
    writer.add_feed_forward_length(HIDDEN)
    writer.add_head_count(HEADS)
    writer.add_head_count_kv(KEY_HEADS)
    writer.add_rope_dimension_count(WIDTH // HEADS)
    writer.add_layer_norm_rms_eps(1e-5)
    writer.add_vocab_size(len(tokens))
    writer.add_tokenizer_model('llama')
    writer.add_token_list([text for text, _ in tokens])
    writer.add_token_scores([0.0] * len(tokens))
    writer.add_token_types([int(of) for _, of in tokens])
    writer.add_bos_token_id(1)
    writer.add_eos_token_id(2)

    def add(name, *shape, silent=0):
        weights = (random.standard_normal(shape) / shape[-1] ** 0.5).astype(numpy.float32)
        weights[:silent] = 0
        writer.add_tensor(name, gguf.quants.quantize(weights, kind), raw_dtype=kind)

    def add_norm(name):
        writer.add_tensor(name, numpy.ones(WIDTH, numpy.float32))
    add('token_embd.weight', len(tokens), WIDTH)
    add_norm('output_norm.weight')
    add('output.weight', len(tokens), WIDTH, silent=3)  # what can't be printed is not said
    for layer in range(LAYERS):
        prefix = f'blk.{layer}.'
        add_norm(prefix + 'attn_norm.weight')
        add_norm(prefix + 'ffn_norm.weight')
        add(prefix + 'attn_q.weight', WIDTH, WIDTH)
        add(prefix + 'attn_k.weight', WIDTH // HEADS * KEY_HEADS, WIDTH)
        add(prefix + 'attn_v.weight', WIDTH // HEADS * KEY_HEADS, WIDTH)
        add(prefix + 'attn_output.weight', WIDTH, WIDTH)
        add(prefix + 'ffn_gate.weight', HIDDEN, WIDTH)
        add(prefix + 'ffn_up.weight', HIDDEN, WIDTH)
        add(prefix + 'ffn_down.weight', WIDTH, HIDDEN)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


main()
