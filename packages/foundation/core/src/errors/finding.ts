import { ChainsteadError } from './error.ts';

export type Verdict = 'ok' | 'warning' | 'bad';

export interface Finding {
  readonly subject: string;
  readonly verdict: Verdict;
  readonly found: string;
  /** Effect on Chainstead; null if as expected. */
  readonly meaning: string | null;
  readonly remedy: string | null;
  /** Figures of `found`, for JSON. */
  readonly facts?: Facts | undefined;
}

type Facts = Readonly<Record<string, unknown>>;

export interface CheckReport {
  readonly name: string;
  readonly findings: readonly Finding[];
  /** Requests; each call of a batch counts. */
  readonly calls: number;
  readonly tookMs: number;
}

export interface FindingsOf {
  ok(found: string, facts?: Facts): Finding;
  warning(found: string, meaning: string, remedy: string, facts?: Facts): Finding;
  bad(found: string, meaning: string, remedy: string, facts?: Facts): Finding;
  /** @throws errors that are not a ChainsteadError */
  refused(error: unknown, meaning: string): Finding;
}

export function findingsOf(subject: string): FindingsOf {
  const calling = (verdict: Verdict) => (found: string, meaning: string, remedy: string, facts?: Facts) => {
    return { subject, verdict, found, meaning, remedy, facts };
  };
  const bad = calling('bad');
  return {
    ok: (found, facts) => ({ subject, verdict: 'ok', found, meaning: null, remedy: null, facts }),
    warning: calling('warning'),
    bad,
    refused(error, meaning) {
      if (!(error instanceof ChainsteadError)) throw error;
      const { code, message, remedy = '' } = error;
      // The message ends with the remedy.
      const found = remedy === '' ? message : message.slice(0, -`. ${remedy}`.length);
      return bad(found, meaning, remedy, { code });
    },
  };
}

export type OnFinding = (finding: Finding) => void;

export interface FindingList {
  readonly findings: readonly Finding[];
  add(...found: readonly Finding[]): void;
}

export function findingList(onFinding?: OnFinding): FindingList {
  const findings: Finding[] = [];
  return {
    findings,
    add(...found) {
      findings.push(...found);
      for (const finding of found) onFinding?.(finding);
    },
  };
}

export function worstVerdict(findings: readonly Pick<Finding, 'verdict'>[]): Verdict {
  const verdicts = findings.map(({ verdict }) => verdict);
  if (verdicts.includes('bad')) return 'bad';
  return verdicts.includes('warning') ? 'warning' : 'ok';
}

/** Move a terminal's cursor, or reverse text. */
const UNSEEN = /[\p{Cc}\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]+/gu;
const WORDS_MAX = 300;

export function quotable(text: string): string {
  const beginning = text.slice(0, WORDS_MAX + 1).toWellFormed();
  const clean = beginning.replaceAll(UNSEEN, ' ').trim();
  return clean.length > WORDS_MAX ? `${clean.slice(0, WORDS_MAX - 1).toWellFormed()}…` : clean;
}
