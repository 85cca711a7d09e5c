/** A reporter of vitest: writes what each test file took. The `json` reporter leaves out what hooks take, and those start whole programs. */
import { writeFileSync } from 'node:fs';
import type { Reporter, TestModule } from 'vitest/node';
import { FILE_TIMES_VARIABLE, type FileTime } from './slowest-files.ts';

/** @public loaded by its path */
export default class FileTimesReporter implements Reporter {
  onTestRunEnd(modules: readonly TestModule[]): void {
    const path = process.env[FILE_TIMES_VARIABLE];
    if (path !== undefined) writeFileSync(path, JSON.stringify(modules.map(timeOf)));
  }
}

function timeOf(module: TestModule): FileTime {
  const { collectDuration, setupDuration, duration } = module.diagnostic();
  return {
    file: module.relativeModuleId,
    tests: [...module.children.allTests()].length,
    milliseconds: collectDuration + setupDuration + duration,
  };
}
