// Stand-in until the flame graph is here.
export async function exportPng(): Promise<Blob | null> {
  return null;
}
