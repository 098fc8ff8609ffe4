#!/usr/bin/env node
import { runToExitCode } from './program.ts';

void runToExitCode(process.argv.slice(2));
