import { Choice } from './filters.tsx';

/*
 * The three lists of the page of people, which share its address.
 */

/** Which of them is shown. */
export function ShowChoice() {
  const options = [
    ['phones', 'On the phone'],
    ['told', 'Told to the client'],
  ] as const;
  return <Choice name="show" label="Show" all="Opt-outs" options={options} />;
}

/** Whether what is chosen is something that a person did. */
export function isDoing(id: string): boolean {
  return /^d\d+$/.test(id);
}

/** Whether what is chosen is an event that the client was told. */
export function isTold(id: string): boolean {
  return /^e\d+$/.test(id);
}
