import { decimalAt, lengthAt, wordCount } from '@chainstead/abi';
import type { Hex } from '@chainstead/core';
import { MALFORMED_REASONS, type MalformedReason } from './nft-transfer.ts';

/** One id of a TransferBatch with its amount, decimal digits both. */
export interface BatchItem {
  readonly id: string;
  readonly value: string;
}

const WORD_BYTES = 32;
/** The two offsets before the arrays. */
const HEAD_WORDS = 2;

/**
 * The two arrays of EIP-1155's TransferBatch. Work is bounded by the data's own length: an array that is not wholly within
 * the data, or shares words with the other one or the head, is no encoding of the event. Unused words are let pass.
 */
export function readTransferBatch(data: Hex): readonly BatchItem[] | MalformedReason {
  const words = wordCount(data);
  if (words === null) return MALFORMED_REASONS.undecodable;
  const ids = arrayAt(data, words, 0);
  const values = arrayAt(data, words, 1);
  if (ids === null || values === null || overlap(ids, values)) return MALFORMED_REASONS.undecodable;
  if (ids.length !== values.length) return MALFORMED_REASONS.lengthsDiffer;
  const items: BatchItem[] = [];
  for (let place = 1; place <= ids.length; place++)
    items.push({ id: decimalAt(data, ids.place + place), value: decimalAt(data, values.place + place) });
  return items;
}

/** An array in the data: the place of its length word, and how many words follow it. */
interface WordArray {
  readonly place: number;
  readonly length: number;
}

function arrayAt(data: Hex, words: number, headPlace: number): WordArray | null {
  if (words < HEAD_WORDS) return null;
  const offset = lengthAt(data, WORD_BYTES * headPlace);
  if (offset === undefined || offset % WORD_BYTES !== 0) return null;
  const place = offset / WORD_BYTES;
  if (place < HEAD_WORDS || place >= words) return null;
  const length = lengthAt(data, offset);
  return length === undefined || length > words - place - 1 ? null : { place, length };
}

function overlap(a: WordArray, b: WordArray): boolean {
  return a.place <= b.place + b.length && b.place <= a.place + a.length;
}
