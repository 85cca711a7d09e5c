/** A parameter of an event, as a dataset stores it. */
export interface EventParameter {
  /** As the event names it, in camel case. */
  readonly name: string;
  /** Name of its column and of the API's field. */
  readonly column: string;
  readonly type: ParameterType;
  readonly isIndexed: boolean;
}

export type ParameterType = 'address' | 'uint' | 'bool' | 'bytes32';

export interface ParsedEvent {
  readonly name: string;
  /** `Deposit(address,uint256)`, of which topic0 is the hash. */
  readonly signature: string;
  /** As viem's `parseAbiItem` takes it. */
  readonly declaration: string;
  readonly parameters: readonly EventParameter[];
}

/**
 * Reads `Deposit(address indexed sender, uint256 assets)`.
 * @throws Error that names what of it a dataset can't store
 */
export function parseEvent(text: string): ParsedEvent {
  const [, name, list] = /^\s*(?:event\s+)?([A-Za-z_]\w*)\s*\((.*)\)\s*;?\s*$/.exec(text) ?? [];
  if (name === undefined || list === undefined)
    throw new Error(`"${text}" is no event: write it as 'Deposit(address indexed sender, uint256 assets)'`);
  const parameters = list.trim() === '' ? [] : list.split(',').map(parseParameter);
  const types = parameters.map(({ solidity }) => solidity);
  if (parameters.filter(({ isIndexed }) => isIndexed).length > 3)
    throw new Error(`${name} has over 3 indexed parameters`);
  const declared = parameters.map(
    ({ solidity, isIndexed, name: own }) => `${solidity}${isIndexed ? ' indexed' : ''} ${own}`,
  );
  return {
    name,
    signature: `${name}(${types.join(',')})`,
    declaration: `event ${name}(${declared.join(', ')})`,
    parameters: parameters.map(({ solidity: _, ...parameter }) => parameter),
  };
}

function parseParameter(text: string, index: number): EventParameter & { readonly solidity: string } {
  const words = text.trim().split(/\s+/);
  const [solidity = '', ...rest] = words;
  const isIndexed = rest[0] === 'indexed';
  const given = (isIndexed ? rest[1] : rest[0]) ?? `value${index + 1}`;
  const name = given.replace(/^_+/, '').replaceAll(/_(\w)/g, (_, letter: string) => letter.toUpperCase());
  const column = snakeCase(name);
  return {
    name,
    column: TAKEN.has(column) ? `${column}_value` : column,
    type: typeOf(solidity, text),
    isIndexed,
    solidity: solidity === 'uint' ? 'uint256' : solidity,
  };
}

/** `tokenId` as `token_id`. */
export function snakeCase(name: string): string {
  return name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`).replace(/^_/, '');
}

function typeOf(solidity: string, text: string): ParameterType {
  if (solidity === 'address' || solidity === 'bool' || solidity === 'bytes32') return solidity;
  if (/^uint(?:\d+)?$/.test(solidity)) return 'uint';
  throw new Error(
    `"${text.trim()}" can't be stored by the generator: it knows address, uint, bool and bytes32. Generate the dataset without it, and add it by hand`,
  );
}

/** Columns that every dataset has, and words that SQL reserves. */
const TAKEN = new Set(
  `account account_key chain_id block_number block_timestamp transaction_index log_index transaction_hash contract
  all and any as asc both case cast check collate column constraint create current_date default desc distinct do else end except
  false fetch for foreign from grant group having in initially intersect into lateral leading limit localtime not null offset on
  only or order placing primary references returning select some symmetric table then to trailing true union unique user using
  variadic when where window with`.split(/\s+/),
);
