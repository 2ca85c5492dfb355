// An instance of a function works on one invocation at a time, and is frozen in between.
let invocations = 0;

/** Says that an invocation begins. */
export function beginInvocation(): void {
  invocations += 1;
}

/** Which invocation this is: what is kept from one with another number may have slept since. */
export function invocationNumber(): number {
  return invocations;
}
