import { expect, test } from 'vitest';
import { renderInvariants } from './invariants-page.ts';

const CODE = { path: 'packages/engine/sync/src/a.ts', text: '  // Invariant: SYNC-A\n  write();\n' };
const TEST = { path: 'packages/engine/sync/src/a.test.ts', text: '// Invariant: SYNC-A\ntest();\n' };

test('an invariant is shown with its code and its tests', () => {
  expect(renderInvariants([CODE, TEST], { 'SYNC-A': 'A block is whole.' })).toContain(
    '## Sync\n\n**SYNC-A**: A block is whole.\n- Enforced in `packages/engine/sync/src/a.ts`\n- Checked by `packages/engine/sync/src/a.test.ts`\n',
  );
});

test.each([
  [[CODE], { 'SYNC-A': 'A block is whole.' }, 'SYNC-A has no test'],
  [[TEST], { 'SYNC-A': 'A block is whole.' }, 'SYNC-A is enforced nowhere'],
  [[CODE, TEST], {}, 'packages/engine/sync/src/a.ts names SYNC-A: no such invariant'],
])('a mark without its counterpart is refused (%#)', (files, invariants, problem) => {
  expect(() => renderInvariants(files, invariants)).toThrow(problem);
});
