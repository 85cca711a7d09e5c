/** Undefined if the path does not exist. @throws all other errors */
export async function unlessMissing<Found>(look: Promise<Found>): Promise<Found | undefined> {
  try {
    return await look;
  } catch (error) {
    if (error instanceof Error && 'code' in error && (error.code === 'ENOENT' || error.code === 'ENOTDIR'))
      return undefined;
    throw error;
  }
}
