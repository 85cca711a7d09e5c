import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

/** A check of commits since this file exists. */
export interface CheckedSubjects {
  /** Number of checked commits. null if the history is not available, as in a shallow clone. */
  readonly commits: number | null;
  /** Lines such as `1f0c2ab9 "Fixed it.": …`. */
  readonly problems: readonly string[];
}

const SUBJECT_MAX = 72;
/** Where the history to check starts. */
const THIS_FILE = 'scripts/check/commit-subjects.ts';
const NO_IMPERATIVE = /(?:[^s]s|ed|ing)$/i;
const IMPERATIVES = new Set([
  'alias',
  'bring',
  'embed',
  'exceed',
  'feed',
  'focus',
  'need',
  'proceed',
  'seed',
  'shed',
  'speed',
]);

/**
 * Checks the subject of each commit that does not belong to the history of the commit that added this file. Merges are skipped.
 * @param root of the repository
 */
export async function checkCommitSubjects(root: string): Promise<CheckedSubjects> {
  if ((await git(root, ['rev-parse', '--is-shallow-repository'])) !== 'false')
    return { commits: null, problems: [] };
  const start =
    (await git(root, ['log', '--diff-filter=A', '--format=%H', '--', THIS_FILE]))?.split('\n').at(-1) ?? '';
  if (start === '') return { commits: 0, problems: [] };
  const log = (await git(root, ['log', '--no-merges', '--format=%h %s', `${start}..HEAD`])) ?? '';
  const lines = log.split('\n').filter((line) => line !== '');
  const problems = lines.flatMap((line) => {
    const [hash = '', ...words] = line.split(' ');
    const subject = words.join(' ');
    return problemsOfSubject(subject).map((problem) => `${hash} "${subject}": ${problem}`);
  });
  return { commits: lines.length, problems };
}

/** Returns each rule that the subject of a commit breaks, as a sentence. */
export function problemsOfSubject(subject: string): string[] {
  const first = subject.split(' ')[0] ?? '';
  const rules: readonly (readonly [boolean, string])[] = [
    [subject.length > SUBJECT_MAX, `${subject.length} characters; at most ${SUBJECT_MAX} are allowed`],
    [!/^[A-Z]/.test(first), 'Start with a capital letter'],
    [
      NO_IMPERATIVE.test(first) && !IMPERATIVES.has(first.toLowerCase()),
      `Start with an imperative, such as "Add" or "Fix", instead of "${first}"`,
    ],
    [subject.endsWith('.'), 'Remove the period at the end'],
    [/:(?: |$)/.test(subject), 'Remove the colon. Reasons belong in the body'],
  ];
  return rules.filter(([isBroken]) => isBroken).map(([, problem]) => problem);
}

/** @returns null without git, or outside of a git checkout */
async function git(root: string, args: readonly string[]): Promise<string | null> {
  try {
    return (await promisify(execFile)('git', args, { cwd: root, maxBuffer: 64 * 1024 * 1024 })).stdout.trim();
  } catch (error) {
    if (error instanceof Error && 'code' in error && (error.code === 'ENOENT' || error.code === 128)) return null;
    throw error;
  }
}
