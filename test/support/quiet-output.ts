/*
 * Set-up of every test file. The product writes its log lines straight to the standard output, where vitest cannot tell whose
 * they are. As lines of the console they belong to the test that runs, and are shown only when it fails.
 */
process.stdout.write = (text: string | Uint8Array, ...given: unknown[]): boolean => {
  console.log(String(text).replace(/\n$/, ''));
  const written = given.find((each) => typeof each === 'function');
  if (written !== undefined) queueMicrotask(() => written());
  return true;
};
