/** A parameter of an ABI, as far as signatures contain it. */
interface SignedParameter {
  readonly type: string;
  readonly components?: readonly SignedParameter[];
}

/**
 * Name and canonical types of a function or event, `transfer(address,uint256)`: what selectors and topics are hashes of
 * (Solidity ABI specification). Types are taken as they are given.
 */
export function abiSignature(name: string, inputs: readonly SignedParameter[]): string {
  return `${name}(${inputs.map(canonicalType).join(',')})`;
}

function canonicalType({ type, components }: SignedParameter): string {
  return components === undefined ? type : `(${components.map(canonicalType).join(',')})${type.slice('tuple'.length)}`;
}
