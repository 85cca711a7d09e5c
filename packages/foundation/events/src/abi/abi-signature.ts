interface SignedParameter {
  readonly type: string;
  readonly components?: readonly SignedParameter[];
}

/** `transfer(address,uint256)` (Solidity ABI specification). */
export function abiSignature(name: string, inputs: readonly SignedParameter[]): string {
  return `${name}(${inputs.map(canonicalType).join(',')})`;
}

function canonicalType({ type, components }: SignedParameter): string {
  return components === undefined
    ? type
    : `(${components.map(canonicalType).join(',')})${type.slice('tuple'.length)}`;
}
