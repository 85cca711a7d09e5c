import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { systemClock } from '@chainstead/core';
import { startProgram } from '@chainstead/testkit';
import { describe, expect, it } from 'vitest';
import { createProgram } from '../command-line.ts';
import { runCaptured } from '../testing/captured-context.ts';
import { findOldNode } from '../testing/old-node.ts';
import { VERSION } from '../version.ts';

/** Has the program say which modules it loaded. */
const LIST_MODULES = `data:text/javascript,${encodeURIComponent(`
  import { registerHooks } from 'node:module';
  registerHooks({
    load(url, context, next) {
      process.stderr.write('loaded ' + url + '\\n');
      return next(url, context);
    },
  });`)}`;
/** A bundle has no separate modules. */
const SOURCES = join(import.meta.dirname, '../main.ts');
const DECLARES_COMMANDS =
  /\/commander\/|\/packages\/foundation\/core\/src\/time\/(?:clock|when-aborted)\.ts$|\/configuration\/role-names\.ts$/;

describe('help', () => {
  const program = createProgram({
    environment: {},
    stdout: { write: () => true },
    stderr: { write: () => true },
    clock: systemClock,
    stopSignal: new AbortController().signal,
  });
  const leaves = program.commands.flatMap((command) =>
    command.commands.length === 0
      ? [command.name()]
      : command.commands.map((subcommand) => `${command.name()} ${subcommand.name()}`),
  );

  it.each(leaves)('of %s has examples', async (command) => {
    const { exitCode, stdout } = await runCaptured([...command.split(' '), '--help']);
    expect(exitCode).toBe(0);
    expect(stdout).toContain('Examples:\n  $ ');
    expect(stdout).toContain(`chainstead ${command}`);
  });

  /** What a process loaded of what only the work of commands needs. */
  function heavyModules(output: string): string[] {
    const loaded = [...output.matchAll(/^loaded (\S+)$/gm)].map((match) => match[1] ?? '');
    expect(loaded).toContainEqual(expect.stringContaining('/apps/chainstead/src/command-line.ts'));
    const heavy = loaded.filter((url) => /\/(packages|commands|configuration|node_modules)\//.test(url));
    return heavy.filter((url) => !DECLARES_COMMANDS.test(url));
  }

  it.each(['--version', '--help', 'start --help'])('loads only what declares commands for %s', async (line) => {
    const environment = { NODE_OPTIONS: `--import=${LIST_MODULES}` };
    const program = startProgram(line.split(' '), { environment, entry: SOURCES });
    expect(await program.exited).toBe(0);
    expect(heavyModules(program.output())).toEqual([]);
  });

  it('of all commands together loads no more', async () => {
    const script = `
      import { systemClock as clock } from '@chainstead/core/clock';
      import { runCommandLine } from './src/command-line.ts';
      const quiet = { write: () => true };
      const context = { environment: {}, stdout: quiet, stderr: quiet, clock, stopSignal: new AbortController().signal };
      for (const command of ${JSON.stringify(leaves)})
        if ((await runCommandLine([...command.split(' '), '--help'], context)) !== 0) throw new Error(command);`;
    const args = [`--import=${LIST_MODULES}`, '--input-type=module', '--eval', script];
    const { stderr } = await promisify(execFile)(process.execPath, args, {
      cwd: join(import.meta.dirname, '../..'),
    });
    expect(heavyModules(stderr)).toEqual([]);
  });

  it('says its version', async () => {
    const { exitCode, stdout } = await runCaptured(['--version']);
    expect([exitCode, stdout]).toEqual([0, `${VERSION}\n`]);
  });

  it('works under an old system Node, which hands over to the pinned one', async () => {
    const old = findOldNode();
    if (old === null)
      process.stdout.write('No Node older than 26 on this machine: the hand-over was not tried\n');
    const program = startProgram(['--help'], old === null ? {} : { node: old });
    expect(await program.exited).toBe(0);
    expect(program.output()).toContain('Usage: chainstead');
  });

  it('of a wrong command says so and ends with 2', async () => {
    const { exitCode, stderr } = await runCaptured(['strat']);
    expect(exitCode).toBe(2);
    expect(stderr).toMatch(/unknown command 'strat'\s+\(Did you mean start\?\)/);
  });

  it.each([
    ['plan', 'chainstead doctor --plan'],
    ['upgrade-check', 'chainstead doctor --upgrade'],
  ])('of the old command %s names the new one', async (command, named) => {
    const { exitCode, stderr } = await runCaptured([command]);
    expect([exitCode, stderr]).toEqual([2, expect.stringContaining(`use "${named}"`)]);
  });
});
