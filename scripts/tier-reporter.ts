/** A reporter of vitest that ends a run with its slowest files, hooks included, and one line of totals: `812 passed, 0 failed, 3 skipped`. */
import type { Reporter, TestModule } from 'vitest/node';

const SHOWN = 10;

/** @public loaded by its path */
export default class TierReporter implements Reporter {
  onTestRunEnd(modules: readonly TestModule[]): void {
    console.log(summarize(modules).join('\n'));
  }
}

function summarize(modules: readonly TestModule[]): string[] {
  const times = modules.map((module) => ({
    file: module.relativeModuleId,
    milliseconds: millisecondsOf(module),
  }));
  const slowest = times.toSorted((one, other) => other.milliseconds - one.milliseconds).slice(0, SHOWN);
  const states = modules.flatMap((module) => [...module.children.allTests()].map((test) => test.result().state));
  const unloaded = modules.filter((module) => module.state() === 'failed' && module.children.size === 0).length;
  const count = (state: string): number => states.filter((other) => other === state).length;
  return [
    'Slowest test files:',
    ...slowest.map(({ file, milliseconds }) => `${(milliseconds / 1_000).toFixed(1).padStart(7)} s  ${file}`),
    `${count('passed')} passed, ${count('failed') + unloaded} failed, ${count('skipped')} skipped`,
  ];
}

function millisecondsOf(module: TestModule): number {
  const { collectDuration, setupDuration, duration } = module.diagnostic();
  return collectDuration + setupDuration + duration;
}
