/** `npm run check:commits`: the subjects of new commits follow CONTRIBUTING.md. Exit code 1 if one does not. */
import { checkCommitSubjects } from './check/commit-subjects.ts';
import { REPOSITORY_ROOT } from './check/source-files.ts';

const { commits, problems } = await checkCommitSubjects(REPOSITORY_ROOT);
if (commits === null)
  console.log('Commit subjects were not checked: this clone lacks the history (git fetch --unshallow)');
else console.log(`${problems.length === 0 ? '✓' : '✗'} subjects of ${commits} commits`);
for (const problem of problems) console.log(`    ${problem}`);
process.exitCode = problems.length === 0 ? 0 : 1;
