/** The most work that may run at once: in all, and for one member, so that others find a place. */
export interface Limits {
  all: number;
  ofMember: number;
}

/**
 * Gives places to work that needs much memory or time.
 * @returns a function that takes a place for a member, by e-mail address. It returns a function that gives the place
 * back, or null while no place is free.
 */
export function placesFor({ all, ofMember }: Limits): (email: string) => (() => void) | null {
  const running = new Set<{ email: string }>();
  return (email) => {
    const own = [...running].filter((each) => each.email === email);
    if (running.size >= all || own.length >= ofMember) return null;
    const place = { email };
    running.add(place);
    return () => void running.delete(place);
  };
}
