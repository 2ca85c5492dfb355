export class ControlError extends Error {
  readonly status: number;
  readonly field: string;

  constructor(status: number, field: string, message: string) {
    super(message);
    this.status = status;
    this.field = field;
  }
}
