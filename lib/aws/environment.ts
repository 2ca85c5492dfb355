/** A variable that the infrastructure sets for this function. Missing means a broken deployment: fail at start-up. */
export function environmentVariable(name: string): string {
  const value = process.env[name];
  if (value === undefined || value === '') throw new Error(`environment variable ${name} is not set`);
  return value;
}

/** A variable that the infrastructure sets in some deployments only. */
export function optionalVariable(name: string): string | undefined {
  return process.env[name] || undefined;
}
