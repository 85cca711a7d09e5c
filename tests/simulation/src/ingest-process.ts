/** The real program, or some of its roles, started again where Docker would. */
import { type Program, startProgram } from '@chainstead/testkit';

export interface IngestProcess {
  /** Kills without warning, as a power cut would. */
  kill(): Promise<void>;
  /** What it wrote, newest last. */
  output(): string;
}

const OUTPUT_CHARACTERS_MAX = 20_000;

/** As Docker does it, a program that ended since it could not reach its database at the start is started again; no other one. */
const COMES_BACK = /\[DATABASE_UNREACHABLE\]/;
const RESTARTS_MAX = 10;

/** @param roles As in `--roles`. */
export function startIngest(environment: Readonly<Record<string, string>>, roles = 'ingest'): IngestProcess {
  let former = '';
  let ending = '';
  let restarts = 0;
  let isKilled = false;
  let program = start();

  function start(): Program {
    const started = startProgram(['start', '--roles', roles], { environment });
    void started.exited.then((code) => {
      ending = `\n[exited with ${code}]\n`;
      if (!COMES_BACK.test(started.output()) || isKilled || restarts++ >= RESTARTS_MAX) return;
      former += started.output() + ending;
      ending = '';
      program = start();
    });
    return started;
  }

  return {
    async kill() {
      isKilled = true;
      await program.kill();
    },
    output: () => (former + program.output() + ending).slice(-OUTPUT_CHARACTERS_MAX),
  };
}
