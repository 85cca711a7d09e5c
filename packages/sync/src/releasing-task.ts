/**
 * A task that lets its item go once it has begun. Queues keep tasks that they have started (p-queue 9.3 up to a hundred, for
 * as long as something waits), and would keep with each all that it was about.
 */
export function releasing<Item extends object>(item: Item, run: (item: Item) => Promise<void>): () => Promise<void> {
  const held: { item: Item | null } = { item };
  return () => {
    const { item: taken } = held;
    held.item = null;
    return taken === null ? Promise.resolve() : run(taken);
  };
}
