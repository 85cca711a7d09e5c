/** Untrusted ABI data. Pure. Start at `decode-abi.ts`, then `read-leaf.ts` and `abi-words.ts`. */
export { staticBytes } from './abi-shape.ts';
export {
  abiSignature,
  addressAt,
  bigIntAt,
  decimalAt,
  lengthAt,
  returnedNumber,
  returnedWord,
  wordCount,
} from './abi-words.ts';
export { decodeAbi, decodeMeasured } from './decode-abi.ts';
export { EncodingRefusedError } from './encoding-refused.ts';
export { type LeafReader, leafReaders } from './read-leaf.ts';
