/** Mutants that no test can kill, since the program behaves as before. By key, with the reason. */
export const EQUIVALENT_MUTANTS: ReadonlyMap<string, string> = new Map([]);
