import { Refusal } from '../domain/errors.ts';

/** Where requests wait for something; holds so many at once. */
export interface WaitingRoom {
  /** Takes a place. @returns what gives it back. @throws Refusal `unavailable` when there is none */
  enter(): () => void;
}

export function createWaitingRoom(places: number): WaitingRoom {
  let taken = 0;
  return {
    enter() {
      if (taken >= places) throw new Refusal('unavailable');
      taken += 1;
      return () => {
        taken -= 1;
      };
    },
  };
}
