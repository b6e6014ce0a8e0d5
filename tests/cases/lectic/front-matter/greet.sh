#!/bin/sh
echo hello from the file
