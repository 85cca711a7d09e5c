/** By ABIs in an order of trust. Pure. Start at `decode-call.ts` and `decode-event.ts`. */
export { type AbiBook, bookOf, bookOfSignatures } from './abi-book.ts';
export {
  type AbiEvent,
  type AbiFunction,
  type AbiType,
  AbiUnreadableError,
  abiFunction,
  layoutOf,
  SELECTOR_DIGITS,
  typeNamed,
} from './abi-entry.ts';
export { decodeCall, decodeEvent, decodeValues } from './decode-event.ts';
export type { DecodedArgument, DecodedCall, DecodedEvent } from './decoded.ts';
export { type DefinedEvent, defineEvent } from './define-event.ts';
export { parseEventSignature, parseSignature } from './parse-signature.ts';
export { readAbi, selectorOf } from './read-abi.ts';
export { type AbiEntry, abiItemJson, readAbiItem } from './read-abi-item.ts';
export { type CallableItem, readCallableItems } from './read-callable-items.ts';
export { storableJson } from './show-argument.ts';
export { STANDARDS } from './standards/standards.ts';
