/** How much a finding asks for: nothing, a thought, or a change before it works. */
export type Verdict = 'ok' | 'warning' | 'bad';

/** One thing that was looked at, for a person. Texts of strangers in it are cut, without control characters. */
export interface Finding {
  /** What was looked at, in a few words. */
  readonly subject: string;
  readonly verdict: Verdict;
  /** What was found. */
  readonly found: string;
  /** What that means for Chainstead; null where it is as it should be. */
  readonly meaning: string | null;
  /** What to do about it; null: nothing. */
  readonly remedy: string | null;
}

/** What came of looking at one server. */
export interface CheckReport {
  /** Its name, without anything that may be secret. */
  readonly name: string;
  /** In the order in which they were looked at. */
  readonly findings: readonly Finding[];
  /** Requests that it took; of a batch each call. */
  readonly calls: number;
  readonly tookMs: number;
}

/** Makes findings of one subject. */
export interface FindingsOf {
  ok(found: string): Finding;
  warning(found: string, meaning: string, remedy: string): Finding;
  bad(found: string, meaning: string, remedy: string): Finding;
}

/** @param subject what is looked at, in a few words */
export function findingsOf(subject: string): FindingsOf {
  const calling = (verdict: Verdict) => (found: string, meaning: string, remedy: string) => ({
    subject,
    verdict,
    found,
    meaning,
    remedy,
  });
  return {
    ok: (found) => ({ subject, verdict: 'ok', found, meaning: null, remedy: null }),
    warning: calling('warning'),
    bad: calling('bad'),
  };
}

/** Told of a finding as soon as there is one. */
export type OnFinding = (finding: Finding) => void;

/** Findings as they are gathered. */
export interface FindingList {
  readonly findings: readonly Finding[];
  add(...found: readonly Finding[]): void;
}

/** An empty list that tells of what is added. */
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

/** Of several findings the one that asks for most; of none `ok`. */
export function worstVerdict(findings: readonly Pick<Finding, 'verdict'>[]): Verdict {
  const verdicts = findings.map(({ verdict }) => verdict);
  if (verdicts.includes('bad')) return 'bad';
  return verdicts.includes('warning') ? 'warning' : 'ok';
}

/** Characters that move a terminal's cursor, or turn the text around them. */
const UNSEEN = /[\p{Cc}\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]+/gu;
const WORDS_MAX = 300;

/** What a stranger wrote, to be quoted in a finding. */
export function quotable(text: string): string {
  const beginning = text.slice(0, WORDS_MAX + 1).toWellFormed();
  const clean = beginning.replaceAll(UNSEEN, ' ').trim();
  return clean.length > WORDS_MAX ? `${clean.slice(0, WORDS_MAX - 1).toWellFormed()}…` : clean;
}
