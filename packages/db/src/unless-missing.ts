/** What a look at a path gives; undefined when nothing is there. Whatever else fails is thrown: it says nothing of that. */
export async function unlessMissing<Found>(look: Promise<Found>): Promise<Found | undefined> {
  try {
    return await look;
  } catch (error) {
    if (error instanceof Error && 'code' in error && (error.code === 'ENOENT' || error.code === 'ENOTDIR'))
      return undefined;
    throw error;
  }
}
