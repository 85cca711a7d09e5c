export type MoveType =
  | { readonly kind: 'primitive'; readonly name: PrimitiveName }
  | { readonly kind: 'vector'; readonly element: MoveType }
  | { readonly kind: 'reference'; readonly mutable: boolean; readonly target: MoveType }
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

/** As fullnodes do: no leading zeros, a space after commas. */
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
      const generics =
        type.typeArguments.length === 0 ? '' : `<${type.typeArguments.map(formatMoveType).join(', ')}>`;
      return `0x${type.address.slice(2).replace(/^0+(?=.)/, '')}::${type.module}::${type.name}${generics}`;
    }
  }
}

const ADDRESS = /^(?:0[xX])?([0-9a-fA-F]{1,64})$/;
const STANDARD = /^0x[0-9a-f]{64}$/;
const DIGITS = 64;

/** `0x` and 64 lower-case digits. Prefix and leading zeros are optional; null: no address. */
export function standardAddress(text: string): string | null {
  if (STANDARD.test(text)) return text;
  const digits = ADDRESS.exec(text)?.[1];
  return digits === undefined ? null : `0x${digits.toLowerCase().padStart(DIGITS, '0')}`;
}

export const FRAMEWORK_ADDRESS = `0x${'1'.padStart(DIGITS, '0')}`;
