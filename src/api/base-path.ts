/** The version is part of the path, and of the base address that merchants are given. */
export const BASE_PATH = '/api/v1';
