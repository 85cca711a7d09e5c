/**
 * ABI-encoded data that strangers wrote: words of logs and calls, and decoding whose cost is measured before it is paid.
 * Pure. Imports core. Start reading at `decode-abi.ts`, then `abi-words.ts`.
 */
export { addressAt, bigIntAt, countAt, decimalAt, wordCount } from './abi-words.ts';
export { decodeAbi, decodeMeasured } from './decode-abi.ts';
export { EncodingRefusedError } from './encoding-refused.ts';
