import type { Command } from 'commander';
import type { CommandContext, Invocation } from '../session/command-context.ts';

type Action = (invocation: Invocation<never>, ...args: never[]) => unknown;

/** Imported when it runs, which keeps help fast. Commander passes arguments, options, command. */
export function run(
  context: CommandContext,
  load: () => Promise<Action>,
): (...given: unknown[]) => Promise<void> {
  return async (...given) => {
    const [options, command] = given.slice(-2) as [never, Command];
    const action = await load();
    await action({ options, command, context }, ...(given.slice(0, -2) as never[]));
  };
}

export function collect(list: string, before: string[] = []): string[] {
  return [...before, ...list.split(',').map((one) => one.trim())];
}
