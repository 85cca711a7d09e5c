import { ERROR_RULES, type ErrorRule, type Reaction } from './error-rules.ts';
import { hasRevertData } from './execution-failures.ts';
import type { FaultKind } from './upstream-pool.ts';

/** An error answer as it came: from the JSON-RPC error object, the HTTP status, or both. */
export interface ErrorAnswer {
  readonly method: string;
  readonly text: string;
  readonly rpcCode?: number;
  readonly httpStatus?: number;
  /** JSON-RPC error data. */
  readonly data?: unknown;
}

/** What an error answer means. */
export interface Classification {
  readonly reaction: Reaction;
  readonly kind: FaultKind;
  /** Which rule matched; null for none. */
  readonly rule: ErrorRule | null;
  /** Largest count of blocks allowed in one getLogs, where the answer tells or the rule knows. */
  readonly limitBlocks?: number;
  /** Largest count of results allowed, where the answer tells. */
  readonly limitResults?: number;
  /** Range that the provider suggests instead. */
  readonly suggestedRange?: { readonly from: number; readonly to: number };
}

const KINDS: Record<Reaction, FaultKind> = {
  misconfigured: 'unauthorized',
  'out-of-budget': 'rate-limited',
  range: 'range-limit',
  density: 'range-limit',
  throttled: 'rate-limited',
  'missing-data': 'missing-block',
  'beyond-head': 'lagging',
  timeout: 'timeout',
  unsupported: 'rpc-error',
  'batch-size': 'rpc-error',
  call: 'rpc-error',
  caller: 'rpc-error',
  transient: 'rpc-error',
};

/** Finds the first rule that fits the answer, and the numbers and ranges in its text. */
export function classifyError(answer: ErrorAnswer): Classification {
  const rule = ERROR_RULES.find((candidate) => matches(candidate, answer)) ?? null;
  const reaction = rule?.reaction ?? 'transient';
  const kind = reaction === 'transient' && answer.rpcCode === undefined ? 'http-status' : KINDS[reaction];
  if (reaction !== 'range' && reaction !== 'density') return { reaction, kind, rule };
  const suggestedRange = findSuggestedRange(answer.text);
  const limitBlocks = reaction === 'range' ? (findBlockLimit(answer.text) ?? rule?.assumeBlocks) : undefined;
  const limitResults = reaction === 'density' ? findResultLimit(answer.text) : undefined;
  return {
    reaction,
    kind,
    rule,
    ...(suggestedRange === undefined ? {} : { suggestedRange }),
    ...(limitBlocks === undefined ? {} : { limitBlocks: Math.max(1, limitBlocks + (rule?.adjust ?? 0)) }),
    ...(limitResults === undefined ? {} : { limitResults }),
  };
}

/** Verdicts that take an upstream away from everybody for a while. */
const ABOUT_THE_ACCOUNT: ReadonlySet<Reaction> = new Set(['misconfigured', 'out-of-budget', 'throttled']);
const TOO_MANY_REQUESTS = 429;

/** What the error of a call means that somebody else composed, or whose text a contract may have written. */
export interface ForeignClassification extends Classification {
  /** Whether a status or code tells it, which no text can cause. */
  readonly isSure: boolean;
}

/**
 * As {@link classifyError}, for answers whose text may repeat what a stranger wrote: where the text speaks of the account
 * but status and code say that the call is wrong, the call is wrong. Only a throttle that is told by its number is sure.
 */
export function classifyForeignError(answer: ErrorAnswer): ForeignClassification {
  const told = classifyError(answer);
  if (!ABOUT_THE_ACCOUNT.has(told.reaction)) return { ...told, isSure: false };
  const { rpcCode, httpStatus } = answer;
  const bare = classifyError({ ...answer, text: '' });
  if (httpStatus === TOO_MANY_REQUESTS || rpcCode === TOO_MANY_REQUESTS)
    return { reaction: 'throttled', kind: KINDS.throttled, rule: bare.rule, isSure: true };
  const isTheCallers = bare.reaction === 'caller' || bare.reaction === 'unsupported';
  return { ...(isTheCallers ? bare : told), isSure: false };
}

function matches(rule: ErrorRule, answer: ErrorAnswer): boolean {
  if (rule.methods !== undefined && !rule.methods.test(answer.method)) return false;
  if (rule.text !== undefined && !rule.text.test(answer.text)) return false;
  if (rule.codes !== undefined && (answer.rpcCode === undefined || !rule.codes.includes(answer.rpcCode))) return false;
  if (rule.http !== undefined && (answer.httpStatus === undefined || !rule.http.includes(answer.httpStatus)))
    return false;
  return rule.hasRevertData !== true || hasRevertData(answer);
}

/** Patterns that carry the number of blocks allowed, most telling first. */
const BLOCK_LIMITS: readonly RegExp[] = [
  /limited to a? ?([\d,.]*\d)/i,
  /up to a ([\d,.]*\d)(k?) block range/i,
  /max(?:imum)? is ([\d,]+)(k?) blocks/i,
  /max range: ?([\d,]+)/i,
  /max(?:imum)? block range:? ([\d,]+)/i,
  /maximum is set to ([\d,]+)/i,
  /maximum allowed number of requested blocks is ([\d,]+)/i,
  /maximum allowed is ([\d,]+) blocks/i,
  /at most ([\d,.]*\d) blocks/i,
  /limit of ([\d,]+)/i,
  /\(maximum ([\d,]+)\)/i,
  /distance: ?([\d,]+)/i,
  /\([\d,]+ > ([\d,]+)\)/i,
  /ranges over ([\d,]+) blocks/i,
];

/** The count of blocks that the text allows, if it says. */
export function findBlockLimit(text: string): number | undefined {
  for (const pattern of BLOCK_LIMITS) {
    const match = pattern.exec(text);
    if (match?.[1] === undefined) continue;
    const limit = Number(match[1].replaceAll(/[,.]/g, '')) * (match[2]?.toLowerCase() === 'k' ? 1000 : 1);
    if (Number.isSafeInteger(limit) && limit > 0) return limit;
  }
  return undefined;
}

/** The count of logs that the text allows, if it says. */
export function findResultLimit(text: string): number | undefined {
  const match = /(?:more than|max results|filter:|query exceeds limit of) ([\d,]+)|cap of (\d+)K logs/i.exec(text);
  if (match === null) return undefined;
  const limit = match[1] === undefined ? Number(match[2]) * 1000 : Number(match[1].replaceAll(',', ''));
  return Number.isSafeInteger(limit) && limit > 0 ? limit : undefined;
}

/** The range `[0x1, 0x2]` or `1-2` that the text suggests, if it does. */
export function findSuggestedRange(text: string): { from: number; to: number } | undefined {
  const hex = /\[(0x[0-9a-f]+), ?(0x[0-9a-f]+)\]/i.exec(text);
  const match = hex ?? /retry with the range (\d+)-(\d+)/i.exec(text);
  if (match === null) return undefined;
  const from = Number(match[1]);
  const to = Number(match[2]);
  return Number.isSafeInteger(from) && Number.isSafeInteger(to) && from <= to ? { from, to } : undefined;
}
