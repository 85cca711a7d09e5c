/**
 * What calls and events say: their names and arguments, by ABIs in an order of trust, and null rather than a guess. Pure: where ABIs are kept is
 * the caller's matter. Start reading at `decode-call.ts` and `decode-event.ts`; what every program knows stands in `standards/`.
 */
export { type AbiBook, bookOf, bookOfSignatures } from './abi-book.ts';
export {
  type AbiFunction,
  type AbiType,
  abiFunction,
  layoutOf,
  SELECTOR_DIGITS,
  typeNamed,
} from './abi-entry.ts';
export { AbiUnreadableError } from './abi-unreadable.ts';
export { decodeCall } from './decode-call.ts';
export { decodeEvent } from './decode-event.ts';
export type { DecodedArgument, DecodedCall, DecodedEvent } from './decoded.ts';
export { parseEventSignature, parseSignature } from './parse-signature.ts';
export { readAbi, selectorOf } from './read-abi.ts';
export { type AbiEntry, abiItemJson, readAbiItem } from './read-abi-item.ts';
export { STANDARDS } from './standards/standards.ts';
