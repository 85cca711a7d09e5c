import {
  ConfigurationError,
  type ConfigurationProblem,
  environmentSource,
  parseConfiguration,
} from '../configuration/index.ts';

/** A configuration from these keys alone. */
export const parse = (environment: Record<string, string>) =>
  parseConfiguration([environmentSource(environment)]);

/** What is said of a configuration that is refused. */
export function problemsOf(environment: Record<string, string>): readonly ConfigurationProblem[] {
  try {
    parse(environment);
  } catch (error) {
    if (error instanceof ConfigurationError) return error.problems;
    throw error;
  }
  throw new Error('The configuration was accepted');
}
