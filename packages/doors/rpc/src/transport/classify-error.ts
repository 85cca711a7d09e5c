import type { Reaction } from '../errors.ts';
import type { FaultKind } from '../upstream-pool.ts';
import type { ErrorRule } from './error-rule.ts';
import { ERROR_RULES } from './error-rules.ts';
import { hasRevertData } from './execution-failures.ts';

export interface ErrorAnswer {
  readonly method: string;
  readonly text: string;
  readonly rpcCode?: number;
  readonly httpStatus?: number;
  readonly data?: unknown;
}

interface Classification {
  readonly reaction: Reaction;
  readonly kind: FaultKind;
  readonly rule: ErrorRule | null;
  readonly limitBlocks?: number;
  readonly limitResults?: number;
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

const ABOUT_THE_ACCOUNT: ReadonlySet<Reaction> = new Set(['misconfigured', 'out-of-budget', 'throttled']);
const TOO_MANY_REQUESTS = 429;

/** A client's call, or a text that a contract may have written. */
export interface ForeignClassification extends Classification {
  /** A status or code proves it, which no text can forge. */
  readonly isSure: boolean;
}

/** Status and code win over text, which may echo. Only a throttle's numeric code is sure. */
export function classifyForeignError(answer: ErrorAnswer): ForeignClassification {
  const reported = classifyError(answer);
  if (!ABOUT_THE_ACCOUNT.has(reported.reaction)) return { ...reported, isSure: false };
  const { rpcCode, httpStatus } = answer;
  const bare = classifyError({ ...answer, text: '' });
  if (httpStatus === TOO_MANY_REQUESTS || rpcCode === TOO_MANY_REQUESTS)
    return { reaction: 'throttled', kind: KINDS.throttled, rule: bare.rule, isSure: true };
  const isTheCallers = bare.reaction === 'caller' || bare.reaction === 'unsupported';
  return { ...(isTheCallers ? bare : reported), isSure: false };
}

function matches(rule: ErrorRule, answer: ErrorAnswer): boolean {
  if (rule.methods !== undefined && !rule.methods.test(answer.method)) return false;
  if (rule.text !== undefined && !rule.text.test(answer.text)) return false;
  if (rule.codes !== undefined && (answer.rpcCode === undefined || !rule.codes.includes(answer.rpcCode)))
    return false;
  if (rule.http !== undefined && (answer.httpStatus === undefined || !rule.http.includes(answer.httpStatus)))
    return false;
  return rule.hasRevertData !== true || hasRevertData(answer);
}

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

export function findBlockLimit(text: string): number | undefined {
  for (const pattern of BLOCK_LIMITS) {
    const match = pattern.exec(text);
    if (match?.[1] === undefined) continue;
    const limit = Number(match[1].replaceAll(/[,.]/g, '')) * (match[2]?.toLowerCase() === 'k' ? 1000 : 1);
    if (Number.isSafeInteger(limit) && limit > 0) return limit;
  }
  return undefined;
}

export function findResultLimit(text: string): number | undefined {
  const match = /(?:more than|max results|filter:|query exceeds limit of) ([\d,]+)|cap of (\d+)K logs/i.exec(
    text,
  );
  if (match === null) return undefined;
  const limit = match[1] === undefined ? Number(match[2]) * 1000 : Number(match[1].replaceAll(',', ''));
  return Number.isSafeInteger(limit) && limit > 0 ? limit : undefined;
}

/** `[0x1, 0x2]` or `1-2`. */
export function findSuggestedRange(text: string): { from: number; to: number } | undefined {
  const hex = /\[(0x[0-9a-f]+), ?(0x[0-9a-f]+)\]/i.exec(text);
  const match = hex ?? /retry with the range (\d+)-(\d+)/i.exec(text);
  if (match === null) return undefined;
  const from = Number(match[1]);
  const to = Number(match[2]);
  return Number.isSafeInteger(from) && Number.isSafeInteger(to) && from <= to ? { from, to } : undefined;
}
