/** As fullnodes name it (`MoveType` of the Aptos REST API). */
export type MoveType =
  | { readonly kind: 'primitive'; readonly name: PrimitiveName }
  | { readonly kind: 'vector'; readonly element: MoveType }
  /** `&T` or `&mut T`. */
  | { readonly kind: 'reference'; readonly mutable: boolean; readonly target: MoveType }
  /** A type parameter of a generic declaration: `T0`. */
  | { readonly kind: 'parameter'; readonly index: number }
  | MoveStruct;

interface MoveStruct {
  readonly kind: 'struct';
  /** `0x` and 64 hexadecimal digits. */
  readonly address: string;
  readonly module: string;
  readonly name: string;
  readonly typeArguments: readonly MoveType[];
}

export const PRIMITIVE_NAMES = [
  'bool',
  'u8',
  'u16',
  'u32',
  'u64',
  'u128',
  'u256',
  'i8',
  'i16',
  'i32',
  'i64',
  'i128',
  'i256',
  'address',
  'signer',
] as const;

type PrimitiveName = (typeof PRIMITIVE_NAMES)[number];

/** As fullnodes print it: addresses without leading zeros, a space after each comma. */
export function formatMoveType(type: MoveType): string {
  switch (type.kind) {
    case 'primitive':
      return type.name;
    case 'vector':
      return `vector<${formatMoveType(type.element)}>`;
    case 'reference':
      return `&${type.mutable ? 'mut ' : ''}${formatMoveType(type.target)}`;
    case 'parameter':
      return `T${type.index}`;
    case 'struct': {
      const generics = type.typeArguments.length === 0 ? '' : `<${type.typeArguments.map(formatMoveType).join(', ')}>`;
      return `0x${type.address.slice(2).replace(/^0+(?=.)/, '')}::${type.module}::${type.name}${generics}`;
    }
  }
}
