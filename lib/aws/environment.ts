/** Reads a variable that the infrastructure sets. A missing one is a broken deployment and fails the start. */
export function environmentVariable(name: string): string {
  const value = process.env[name];
  if (value === undefined || value === '') throw new Error(`environment variable ${name} is not set`);
  return value;
}

/** Reads a variable that only some deployments set. */
export function optionalVariable(name: string): string | undefined {
  return process.env[name] || undefined;
}
