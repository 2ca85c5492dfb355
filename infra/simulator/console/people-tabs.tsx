import { Choice } from './filters.tsx';

export function ShowChoice() {
  const options = [
    ['phones', 'On the phone'],
    ['told', 'Told to the client'],
  ] as const;
  return <Choice name="show" label="Show" all="Opt-outs" options={options} />;
}

export function isActRow(id: string): boolean {
  return /^d\d+$/.test(id);
}

export function isEventRow(id: string): boolean {
  return /^e\d+$/.test(id);
}
