/**
 * Set-up of each test file: property tests draw the same values in each run, so that only a change makes them fail. Nightly runs draw
 * new values.
 */
import fc from 'fast-check';
import { testTier } from './test-tier.ts';

if (testTier() !== 'nightly') fc.configureGlobal({ ...fc.readConfigureGlobal(), seed: 38 });
