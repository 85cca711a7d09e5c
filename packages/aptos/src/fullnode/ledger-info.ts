import { FullnodeFault } from './errors.ts';

/** The range of a fullnode's ledger. */
export interface LedgerInfo {
  readonly chainId: number;
  /** Newest version. */
  readonly head: number;
  /** Oldest version that is not pruned. */
  readonly oldest: number;
}

/** Headers with lower-case names. */
export type AnswerHeaders = Readonly<Record<string, string | string[] | undefined>>;

/** Reads the `X-Aptos-…` headers of a fullnode's response; a proxy may have removed them. */
export function readLedgerHeaders(headers: AnswerHeaders): Partial<LedgerInfo> {
  const chainId = headerNumber(headers, 'x-aptos-chain-id');
  const head = headerNumber(headers, 'x-aptos-ledger-version');
  const oldest = headerNumber(headers, 'x-aptos-ledger-oldest-version');
  return {
    ...(chainId === undefined ? {} : { chainId }),
    ...(head === undefined ? {} : { head }),
    ...(oldest === undefined ? {} : { oldest }),
  };
}

/** Parses the body of `GET /v1`. @throws FullnodeFault malformed */
export function parseLedgerInfo(body: unknown): LedgerInfo {
  const members = typeof body === 'object' && body !== null ? body : {};
  const chainId = 'chain_id' in members ? wholeNumber(members.chain_id) : undefined;
  const head = 'ledger_version' in members ? wholeNumber(members.ledger_version) : undefined;
  const oldest = 'oldest_ledger_version' in members ? wholeNumber(members.oldest_ledger_version) : 0;
  if (chainId === undefined || head === undefined || oldest === undefined)
    throw new FullnodeFault('malformed', 'the ledger info lacks chain_id, ledger_version or oldest_ledger_version');
  return { chainId, head, oldest };
}

/** Returns decimal text or a number as a number; undefined if it is neither or not a safe integer. */
export function wholeNumber(value: unknown): number | undefined {
  const number = typeof value === 'string' && /^\d{1,16}$/.test(value) ? Number(value) : value;
  return typeof number === 'number' && Number.isSafeInteger(number) && number >= 0 ? number : undefined;
}

export function headerText(headers: AnswerHeaders, name: string): string | undefined {
  const value = headers[name];
  return typeof value === 'object' ? value[0] : value;
}

function headerNumber(headers: AnswerHeaders, name: string): number | undefined {
  return wholeNumber(headerText(headers, name));
}
