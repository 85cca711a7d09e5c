import { errorText, JsonBoundsError, parseModestJson } from '@chainstead/core';
import { type HttpAnswer, parseRetryAfter } from '@chainstead/rpc/upstream-http';
import { jsonObject } from '../rows/insert-rows.ts';
import type { AptosNetwork } from '../transaction.ts';
import { FullnodeFault } from './errors.ts';

export interface LedgerInfo {
  readonly chainId: number;
  readonly head: number;
  readonly oldest: number;
}

type AnswerHeaders = Readonly<Record<string, string | string[] | undefined>>;

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

/** `GET /v1`. @throws FullnodeFault malformed */
export function parseLedgerInfo(body: unknown): LedgerInfo {
  const members = jsonObject(body) ?? {};
  const chainId = wholeNumber(members.chain_id);
  const head = wholeNumber(members.ledger_version);
  const oldest = 'oldest_ledger_version' in members ? wholeNumber(members.oldest_ledger_version) : 0;
  if (chainId === undefined || head === undefined || oldest === undefined)
    throw new FullnodeFault(
      'malformed',
      'the ledger info lacks chain_id, ledger_version or oldest_ledger_version',
    );
  return { chainId, head, oldest };
}

/** Undefined: neither decimal text nor a safe integer. */
export function wholeNumber(value: unknown): number | undefined {
  const number = typeof value === 'string' && /^\d{1,16}$/.test(value) ? Number(value) : value;
  return typeof number === 'number' && Number.isSafeInteger(number) && number >= 0 ? number : undefined;
}

function headerText(headers: AnswerHeaders, name: string): string | undefined {
  const value = headers[name];
  return typeof value === 'object' ? value[0] : value;
}

function headerNumber(headers: AnswerHeaders, name: string): number | undefined {
  return wholeNumber(headerText(headers, name));
}

const NETWORKS: Readonly<Record<AptosNetwork, { readonly chainId: number; readonly chainKey: string }>> = {
  mainnet: { chainId: 1, chainKey: 'aptos' },
  testnet: { chainId: 2, chainKey: 'aptos-testnet' },
};

const NAMES: readonly AptosNetwork[] = ['mainnet', 'testnet'];

export function chainIdOf(network: AptosNetwork): number {
  return NETWORKS[network].chainId;
}

export function chainKeyOf(network: AptosNetwork): string {
  return NETWORKS[network].chainKey;
}

export function networkOfChain(chainKey: string): AptosNetwork | null {
  return NAMES.find((name) => NETWORKS[name].chainKey === chainKey) ?? null;
}

export function networkOfChainId(chainId: number): AptosNetwork | null {
  return NAMES.find((name) => NETWORKS[name].chainId === chainId) ?? null;
}

/** Larger numbers are Unix seconds, not a wait. */
const SECONDS_AS_MOMENT = 1_000_000_000;
const WAIT_MAX_MS = 600_000;

/** Milliseconds: `Retry-After` (seconds or date), else the rate limit's reset. */
export function refusalWaitMs(headers: AnswerHeaders, now: number): number | undefined {
  const ms = parseRetryAfter(headerText(headers, 'retry-after'), now);
  return ms === undefined ? resetMs(headers, now) : bounded(ms);
}

/** After a call that used up the budget; undefined: some is left. */
export function budgetWaitMs(headers: AnswerHeaders, now: number): number | undefined {
  const remaining = headerText(headers, 'x-ratelimit-remaining') ?? headerText(headers, 'ratelimit-remaining');
  return remaining !== undefined && Number(remaining) === 0 ? resetMs(headers, now) : undefined;
}

function resetMs(headers: AnswerHeaders, now: number): number | undefined {
  const reset = Number(
    headerText(headers, 'x-ratelimit-reset') ?? headerText(headers, 'ratelimit-reset') ?? Number.NaN,
  );
  if (!Number.isFinite(reset) || reset < 0) return undefined;
  return bounded(reset > SECONDS_AS_MOMENT ? reset * 1_000 - now : reset * 1_000);
}

function bounded(ms: number): number {
  return Math.min(WAIT_MAX_MS, Math.max(0, ms));
}

const SHOWN_MAX = 200;
/** The Move VM nests values up to 128 levels. */
export const JSON_DEPTH_MAX = 256;

/** @throws FullnodeFault pruned, behind, too-large, throttled, server-error, rejected */
export function requireGood({ status, headers, body }: HttpAnswer, now: number): Buffer {
  if (status === 200) return body;
  const { code, message } = readError(body);
  const text = `HTTP ${status}${code === '' ? '' : ` ${code}`}: ${message}`;
  const waitMs = refusalWaitMs(headers, now);
  const details = waitMs === undefined ? {} : { waitMs };
  if (status === 410 || code.endsWith('_pruned')) throw new FullnodeFault('pruned', text);
  if (status === 404 && code.endsWith('_not_found')) throw new FullnodeFault('behind', text);
  if (status === 413) throw new FullnodeFault('too-large', text);
  if (status === 429) throw new FullnodeFault('throttled', text, details);
  if (status >= 500 || status === 408) throw new FullnodeFault('server-error', text, details);
  throw new FullnodeFault('rejected', text);
}

/** @throws FullnodeFault truncated, malformed */
export function parseJson(body: Buffer): unknown {
  try {
    // Invariant: HTTP-BODY-BOUNDED
    return parseModestJson(body, { depthMax: JSON_DEPTH_MAX });
  } catch (error) {
    if (error instanceof JsonBoundsError) throw new FullnodeFault('malformed', errorText(error));
    throw new FullnodeFault('truncated', 'the response is not complete JSON', { cause: error });
  }
}

function readError(body: Buffer): { code: string; message: string } {
  const text = body.toString('utf8', 0, 10_000);
  let error: ReturnType<typeof jsonObject> = null;
  try {
    error = jsonObject(JSON.parse(text));
  } catch (cause) {
    if (!(cause instanceof SyntaxError)) throw cause;
  }
  return {
    code: typeof error?.error_code === 'string' ? error.error_code : '',
    message: cut(typeof error?.message === 'string' ? error.message : text),
  };
}

function cut(text: string): string {
  return text.length > SHOWN_MAX ? `${text.slice(0, SHOWN_MAX)}…` : text;
}
