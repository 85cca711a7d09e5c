/**
 * What calls and events say: their names and arguments, by ABIs in an order of trust, and null rather than a guess. Pure: where ABIs are kept is
 * the caller's matter. Start reading at `decode-call.ts` and `decode-event.ts`; what every program knows stands in `standards/`.
 */
export { type AbiFunction, type AbiType, abiFunction, layoutOf, typeNamed } from './abi-entry.ts';
export { decodeCall } from './decode-call.ts';
export { decodeEvent } from './decode-event.ts';
export type { DecodedArgument, DecodedCall, DecodedEvent } from './decoded.ts';
export { parseSignature } from './parse-signature.ts';
export { STANDARDS } from './standards/standards.ts';
