import { execFileSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';

const HOOK = fileURLToPath(new URL('./resolve-drizzle.ts', import.meta.url));

/** What a process that has the lines run sees of drizzle-orm: names that it exports, and whether its parts are the same modules from everywhere. */
function seenBy(lines: string): unknown {
  const program = `${lines}
    const core = await import('drizzle-orm/pg-core');
    const { entityKind, is, Column } = await import('drizzle-orm');
    const table = core.pgTable('things', { id: core.integer('id') });
    console.log(JSON.stringify([Object.keys(core), is(table.id, Column), table.id.constructor[entityKind]]));`;
  const output = execFileSync(process.execPath, ['--input-type=module', '--eval', program], {
    cwd: fileURLToPath(new URL('.', import.meta.url)),
    encoding: 'utf8',
  });
  return JSON.parse(output);
}

test('drizzle-orm is the same as without the short way to its modules', () => {
  const quick = seenBy(`(await import(${JSON.stringify(HOOK)})).resolveDrizzleQuickly();`);
  expect(quick).toEqual(seenBy(''));
  expect(quick).toEqual([expect.arrayContaining(['pgTable', 'PgDialect']), true, 'PgInteger']);
});

test('the short way is taken: nobody else is asked for a module beside the one that names it', () => {
  const requested = execFileSync(
    process.execPath,
    [
      '--input-type=module',
      '--eval',
      `import { registerHooks } from 'node:module';
       const asked = [];
       registerHooks({ resolve(specifier, context, next) { if (context.parentURL?.includes('/drizzle-orm/')) asked.push(specifier); return next(specifier, context); } });
       (await import(${JSON.stringify(HOOK)})).resolveDrizzleQuickly();
       await import('drizzle-orm/pg-core');
       console.log(JSON.stringify(asked.filter((one) => one.startsWith('.'))));`,
    ],
    { cwd: fileURLToPath(new URL('.', import.meta.url)), encoding: 'utf8' },
  );
  expect(JSON.parse(requested)).toEqual([]);
});
