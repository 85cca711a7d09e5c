/** What one side is called and how one run of it is made. */
export interface Side<T> {
  readonly name: string;
  run(): Promise<T>;
}

/**
 * Runs both sides the same number of times, in turn, and swaps the first one each time. Other work of the machine in the
 * meantime, and its warm caches, then affect both.
 */
export async function alternate<A, B>(
  runs: number,
  first: Side<A>,
  second: Side<B>,
  say: (text: string) => void,
): Promise<{ readonly first: A[]; readonly second: B[] }> {
  const results = { first: [] as A[], second: [] as B[] };
  for (let run = 0; run < runs; run++) {
    const measureFirst = async (): Promise<void> => {
      say(`  run ${run + 1} of ${runs}: ${first.name}`);
      results.first.push(await first.run());
    };
    const measureSecond = async (): Promise<void> => {
      say(`  run ${run + 1} of ${runs}: ${second.name}`);
      results.second.push(await second.run());
    };
    if (run % 2 === 0) {
      await measureFirst();
      await measureSecond();
    } else {
      await measureSecond();
      await measureFirst();
    }
  }
  return results;
}
