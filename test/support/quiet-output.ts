/* The product writes log lines to the standard output, where vitest cannot assign them to a test. As console lines they
   belong to the running test, and appear only when it fails. */
process.stdout.write = (text: string | Uint8Array, ...given: unknown[]): boolean => {
  console.log(String(text).replace(/\n$/, ''));
  const written = given.find((each) => typeof each === 'function');
  if (written !== undefined) queueMicrotask(() => written());
  return true;
};
