import type { WalletHistory } from '@chainstead/answers';
import type { StateQuestions } from '@chainstead/state';
import type { KeptSubjects } from '@chainstead/sync';

export interface TokenHoldersOptions {
  readonly questions: StateQuestions;
  readonly kept: KeptSubjects;
  readonly walletHistory: Pick<WalletHistory, 'requestContract'>;
  /** How long a request waits for what it has caused (`INDEX_WAIT_MS`). Milliseconds. */
  readonly waitMs: number;
  /** So old a reading may be where transfers don't tell balances (`BALANCE_MAX_AGE_MS`). Milliseconds. */
  readonly liveMaxAgeMs: number;
}
