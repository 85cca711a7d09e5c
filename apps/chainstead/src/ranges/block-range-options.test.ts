import { Command } from 'commander';
import { expect, test } from 'vitest';
import { addBlockRangeOptions, addDetachableRangeOptions } from './block-range-options.ts';

const offered = (command: Command): readonly (string | undefined)[] => command.options.map(({ long }) => long);

test('work is left to another process by those commands alone whose work that process does', () => {
  expect(offered(addBlockRangeOptions(new Command('record')))).toEqual(['--chain', '--from', '--to', '--range']);
  expect(offered(addDetachableRangeOptions(new Command('backfill')))).toContain('--detach');
});
