import type { Peak } from './peak.ts';
import type { Sample } from './sample.ts';
import type { TableContents } from './table-probe.ts';
import type { Verdict } from './verdicts.ts';

/** What a soak found. */
export interface SoakResult {
  readonly peak: Peak | null;
  /** Blocks a second that were held. */
  readonly held: number;
  readonly interrupted: boolean;
  readonly samples: readonly Sample[];
  readonly contents: readonly TableContents[] | null;
  readonly verdicts: readonly Verdict[];
}
