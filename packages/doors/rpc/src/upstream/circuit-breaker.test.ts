import { expect, test } from 'vitest';
import {
  type BreakerState,
  CLOSED_BREAKER,
  entered,
  failed,
  mayEnter,
  succeeded,
  trialAbandoned,
} from './health-score.ts';

const limits = { breakerFailures: 3, breakerOpenMs: 1_000, breakerOpenMaxMs: 4_000 };

function failures(count: number, at: number): BreakerState {
  let state: BreakerState = CLOSED_BREAKER;
  for (let index = 0; index < count; index++) state = failed(state, at, limits);
  return state;
}

test('opens after failures in a row, not before', () => {
  expect(mayEnter(failures(2, 0), 0)).toBe(true);
  expect(mayEnter(failures(3, 0), 999)).toBe(false);
});

test('a success in between starts the count anew', () => {
  const state = failed(failed(succeeded(failures(2, 0)), 0, limits), 0, limits);
  expect(state.kind).toBe('closed');
});

test('lets one trial through when its time is over', () => {
  const trial = entered(failures(3, 0), 1_000);
  expect(trial.kind).toBe('half-open');
  expect(mayEnter(trial, 1_000)).toBe(false);
});

test('a trial that succeeds closes it, one that fails opens it for twice as long, up to the maximum', () => {
  const trial = entered(failures(3, 0), 1_000);
  expect(succeeded(trial).kind).toBe('closed');
  let state: BreakerState = failed(trial, 1_000, limits);
  expect(state).toEqual({ kind: 'open', until: 3_000, openMs: 2_000 });
  state = failed(entered(state, 3_000), 3_000, limits);
  state = failed(entered(state, 7_000), 7_000, limits);
  expect(state).toEqual({ kind: 'open', until: 11_000, openMs: 4_000 });
});

test('a trial that was given up leaves the next call to be the trial', () => {
  const trial = entered(failures(3, 0), 1_000);
  expect(mayEnter(trialAbandoned(trial, 1_200), 1_200)).toBe(true);
});

test('late failures of calls sent before it opened do not prolong it', () => {
  const open = failures(3, 0);
  expect(failed(open, 500, limits)).toBe(open);
});
